//! Tools that run inside the jail: Read, Write, Edit, Grep, Glob, Bash, WebFetch.
