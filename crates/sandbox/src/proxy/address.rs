//! Which addresses an answer of the name service may lead to: the public ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a name may not lead to, as a word for people. None for an address of the public net.
pub(super) fn kind_of_special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let kind = match address.octets() {
        // The second is Azure's, in public space.
        [169, 254, 169, 254] | [168, 63, 129, 16] => "metadata",
        [0, ..] => "unspecified",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "shared",
        [127, ..] => "loopback",
        [169, 254, ..] => "link-local",
        [224..=239, ..] => "multicast",
        // Of protocols, examples, 6to4 relays, measurements; and what was never given out.
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18..=19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => "reserved",
        _ => return None,
    };
    Some(kind)
}

/// Only global unicast is public, and of that not what carries another address within (Teredo, 6to4).
fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = address.to_ipv4_mapped() {
        return special_v4(inner);
    }
    let kind = match address.segments() {
        // The gateway's own prefix: the packet goes to the address within.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
            return special_v4(Ipv4Addr::new(a, b, c, d));
        }
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => "metadata",
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0xfc00..=0xfdff, ..] => "private",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xff00..=0xffff, ..] => "multicast",
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => "reserved",
        [0x2000..=0x3fff, ..] => return None,
        _ => "reserved",
    };
    Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_not_special() {
        let special = [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "shared"),
            ("100.127.255.255", "shared"),
            ("100.100.100.200", "shared"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.254", "loopback"),
            ("169.254.1.1", "link-local"),
            ("169.254.169.254", "metadata"),
            ("168.63.129.16", "metadata"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.255", "multicast"),
            ("255.255.255.255", "reserved"),
            ("240.0.0.1", "reserved"),
            ("192.0.0.192", "reserved"),
            ("192.0.2.1", "reserved"),
            ("198.18.0.1", "reserved"),
            ("198.51.100.7", "reserved"),
            ("203.0.113.9", "reserved"),
            ("192.88.99.1", "reserved"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::127.0.0.1", "reserved"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "metadata"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b::127.0.0.1", "loopback"),
            ("64:ff9b:1::8.8.8.8", "reserved"),
            ("2002:7f00:1::", "reserved"),
            ("2002:808:808::1", "reserved"),
            ("2001::1", "reserved"),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"),
            ("2001:db8::1", "reserved"),
            ("2001:20::1", "reserved"),
            ("3fff::1", "reserved"),
            ("fc00::1", "private"),
            ("fd12::1", "private"),
            ("fd00:ec2::254", "metadata"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "reserved"),
            ("ff02::1", "multicast"),
            ("100::1", "reserved"),
            ("4000::1", "reserved"),
        ];
        for (text, kind) in special {
            assert_eq!(kind_of_special(text.parse().unwrap()), Some(kind), "{text}");
        }
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "169.253.1.1",
            "223.255.255.255",
            "192.0.1.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::8.8.8.8",
            "::ffff:8.8.8.8",
            "3ffe::1",
        ];
        for text in public {
            assert_eq!(kind_of_special(text.parse().unwrap()), None, "{text}");
        }
    }
}
