import { x } from "./x";

/** A jar. */
export interface Jar {
  label: string;
  open(): void;
}

export type Row = Jar[];

export abstract class Shelf<T> {
  private rows: Row[] = [];

  constructor(readonly room: number) {}

  // Adds one.
  add(jar: Jar): this {
    const inner = () => 1;
    return this;
  }

  abstract close(): void;

  handle = (jar: Jar) => {
    x(jar);
  };
}

export const ROOM = 12;

export const close = async (jar: Jar): Promise<boolean> => {
  return true;
};

export default function open(jar: Jar): void {}

enum Lid {
  Tin,
}

declare module "jars" {
  function lid(): Lid;
}

namespace Inner {
  export const y = 1;
}
