mod secrets;

fn main() -> anyhow::Result<()> {
    secrets::run()
}
