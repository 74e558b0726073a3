//! First messages of TLS, put together byte by byte.

pub(super) const NAME: u16 = 0;
/// A type that stands for nothing, as clients send it to keep servers from choking on the unknown.
pub(super) const GREASE: u16 = 0x3a3a;
/// Encrypted ClientHello, with the name that really counts in it.
pub(super) const ECH: u16 = 0xfe0d;

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

pub(super) fn name_list(names: &[&str]) -> Vec<u8> {
    let entry = |name: &&str| [&[0][..], &with_length(name.as_bytes())].concat();
    with_length(&names.iter().flat_map(entry).collect::<Vec<_>>())
}

/// A whole message with its head.
pub(super) fn message(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut content = vec![3, 3];
    content.extend([7; 32]);
    content.extend([32].iter().chain(&[9; 32]));
    content.extend(with_length(&[0x13, 0x01, 0x13, 0x02, 0xc0, 0x2f]));
    content.extend([1, 0]);
    let encode =
        |(kind, data): &(u16, Vec<u8>)| [&kind.to_be_bytes()[..], &with_length(data)].concat();
    content.extend(with_length(&extensions.iter().flat_map(encode).collect::<Vec<_>>()));
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&[1], &length[1..], &content].concat()
}

/// In records of at most so many bytes.
pub(super) fn records(message: &[u8], most: usize) -> Vec<u8> {
    message
        .chunks(most)
        .flat_map(|piece| [&[0x16, 3, 1][..], &with_length(piece)].concat())
        .collect()
}

/// As a client of today would ask for a name.
pub(super) fn hello(name: &str) -> Vec<u8> {
    let extensions = [
        (GREASE, vec![]),
        (NAME, name_list(&[name])),
        (10, vec![0, 4, 0x3a, 0x3a, 0, 29]),
        (16, vec![0, 3, 2, b'h', b'2']),
        (43, vec![4, 3, 4, 3, 3]),
        (21, vec![0; 40]),
    ];
    records(&message(&extensions), 16_384)
}
