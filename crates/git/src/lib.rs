//! History, trees and bases, through the `git` program.
