//! A shelf of jars.

use std::fmt;

/// How many fit.
pub const ROOM: usize = 12;

/// A jar.
#[derive(Clone, Debug)]
pub struct Jar {
    label: String,
}

pub trait Hold {
    fn hold(&mut self, jar: Jar) -> bool;
}

impl Hold for Vec<Jar> {
    #[inline]
    fn hold(&mut self, jar: Jar) -> bool {
        self.push(jar);
        true
    }
}

impl fmt::Display for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INNER: u8 = 1;
        fn helper() {}
        f.write_str(&self.label)
    }
}

enum Lid { Tin, Cork } // trailing words

pub async fn close<T>(
    jar: &Jar,
    lid: T,
) -> Result<(), T>
where
    T: Clone,
{
    Err(lid)
}

mod inner {
    pub(crate) type Row = Vec<super::Jar>;
}

macro_rules! jar {
    () => {};
}
