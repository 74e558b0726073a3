<?php

namespace Shelves;

interface Holder
{
    public function hold(Jar $jar): bool;
}

/**
 * A shelf.
 */
#[Entity]
final class Shelf implements Holder
{
    const ROOM = 12;

    private array $rows = [];

    public function hold(Jar $jar): bool
    {
        return true;
    }
}

trait Opens
{
}

enum Lid: string
{
    case Tin = 'tin';
}

function close(Jar $jar): void
{
}
