//! Fakes, builders, generators and canaries for the tests of every crate.
