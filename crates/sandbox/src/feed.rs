//! What a jailed program reads. It is given no more than it takes: the rest stays where it is, for whoever reads on there.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, SeekFrom, fstat, seek, tell};
use rustix::io::{Errno, ioctl_fionread, pread, read, write};
use rustix::param::page_size;
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, tee};

const BYTES: usize = 4 << 10;

/// What can be shown to a program before it is taken away.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Pipe,
    File,
    /// A terminal or a socket: what is read is gone, be it taken or not.
    Stream,
}

/// Until either side ends.
pub(crate) fn feed(from: &OwnedFd, to: &OwnedFd) {
    // So there is room for more in it only when all that was in it has been read.
    let is_narrow = fcntl_setpipe_size(to, page_size()).is_ok_and(|size| size <= page_size());
    let mut source = if is_narrow { Source::of(from) } else { Source::Stream };
    while is_wanted(from, to) {
        match source.offer(from, to) {
            Ok(0) => return,
            Ok(offered) => {
                let taken = offered.saturating_sub(left(to));
                source.take(from, taken);
                if taken < offered {
                    return;
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Where it cannot be shown first.
            Err(Errno::INVAL | Errno::NOSYS | Errno::PERM) if source != Source::Stream => {
                source = Source::Stream;
            }
            Err(_) => return,
        }
    }
}

/// Waits for more; no when nobody is left to read it.
fn is_wanted(from: &OwnedFd, to: &OwnedFd) -> bool {
    loop {
        let mut ready = [PollFd::new(from, PollFlags::IN), PollFd::new(to, PollFlags::empty())];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => {}
            woken => return woken.is_ok() && ready[1].revents().is_empty(),
        }
    }
}

/// Waits until all is read, or nobody is left to read it; how much is left then.
fn left(to: &OwnedFd) -> usize {
    while let Err(Errno::INTR) = poll(&mut [PollFd::new(to, PollFlags::OUT)], None) {}
    ioctl_fionread(to).ok().and_then(|left| usize::try_from(left).ok()).unwrap_or(0)
}

impl Source {
    fn of(from: &OwnedFd) -> Self {
        match fstat(from).map(|about| FileType::from_raw_mode(about.st_mode)) {
            Ok(FileType::Fifo) => Self::Pipe,
            Ok(FileType::RegularFile) => Self::File,
            _ => Self::Stream,
        }
    }

    /// Puts some of it before the program, which has read all of what came before.
    fn offer(self, from: &OwnedFd, to: &OwnedFd) -> Result<usize, Errno> {
        let mut buffer = [0; BYTES];
        let count = match self {
            Self::Pipe => return tee(from, to, BYTES, SpliceFlags::NONBLOCK),
            Self::File => pread(from, &mut buffer[..], tell(from)?)?,
            Self::Stream => read(from, &mut buffer[..])?,
        };
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            match write(to, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Takes away what the program has read.
    fn take(self, from: &OwnedFd, mut count: usize) {
        match self {
            Self::Pipe => {
                let mut buffer = [0; BYTES];
                while count > 0 && is_ready(from) {
                    let wanted = count.min(BYTES);
                    match read(from, &mut buffer[..wanted]) {
                        Ok(0) => return,
                        Ok(taken) => count -= taken,
                        Err(Errno::AGAIN | Errno::INTR) => {}
                        Err(_) => return,
                    }
                }
            }
            Self::File => {
                // A file that can be read at a place has one.
                let _ = seek(from, SeekFrom::Current(i64::try_from(count).unwrap_or(0)));
            }
            Self::Stream => {}
        }
    }
}

/// Not where somebody else has read it meanwhile.
fn is_ready(from: &OwnedFd) -> bool {
    let now = Timespec::default();
    poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read as _, Seek as _, Write as _};
    use std::thread;

    /// What is left for others when a program has read so many bytes of this and is gone.
    fn left_by(from: OwnedFd, bytes: usize) -> (Vec<u8>, OwnedFd) {
        let (reader, to) = std::io::pipe().unwrap();
        let program = thread::spawn(move || {
            let mut read = vec![0; bytes];
            { &reader }.read_exact(&mut read).unwrap();
            read
        });
        feed(&from, &to.into());
        (program.join().unwrap(), from)
    }

    #[test]
    fn what_a_program_does_not_read_is_left_in_a_pipe() {
        let text: Vec<u8> = (0..60_000_u32).map(|number| number as u8).collect();
        for bytes in [0, 1, 4_096, 10_000] {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(&text).unwrap();
            drop(writer);
            let (read, rest) = left_by(reader.into(), bytes);
            let mut left = Vec::new();
            File::from(rest).read_to_end(&mut left).unwrap();
            assert_eq!((read.as_slice(), left.as_slice()), text.split_at(bytes), "{bytes}");
        }
    }

    #[test]
    fn what_a_program_does_not_read_is_left_in_a_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 20_000]).unwrap();
        file.seek(std::io::SeekFrom::Start(100)).unwrap();
        let (read, rest) = left_by(file.into(), 5_000);
        assert_eq!((read.len(), File::from(rest).stream_position().unwrap()), (5_000, 5_100));
    }

    #[test]
    fn a_program_that_reads_all_gets_all() {
        let (from, mut writer) = std::io::pipe().unwrap();
        let (mut reader, to) = std::io::pipe().unwrap();
        let text = vec![7; 1 << 20];
        let given = text.clone();
        thread::spawn(move || writer.write_all(&given).unwrap());
        thread::spawn(move || feed(&from.into(), &to.into()));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == text, "{}", read.len());
    }
}
