import { invalid } from './attributes.ts';
import { isReserved } from './reserved-words.ts';

/** Shared by all kinds of expressions: tokens, paths and values. */

/** Attribute names or their `#placeholders`, and list indexes. */
export type Path = (string | number)[];
export interface PathOperand {
  kind: 'path';
  path: Path;
}
export interface ValueOperand {
  kind: 'value';
  /** Including the colon. */
  name: string;
}

/** The placeholders of a request that an expression uses. */
export interface Placeholders {
  names: Set<string>;
  values: Set<string>;
}

const token = /\s*(?:([A-Za-z_]\w*|#\w+|:\w+|\d+)|(<>|<=|>=|[=<>(),.[\]+-]))\s*/y;
const keywords = new Set(['AND', 'OR', 'NOT', 'IN', 'BETWEEN', 'SET', 'REMOVE', 'ADD', 'DELETE']);

export class Parser implements Placeholders {
  readonly names = new Set<string>();
  readonly values = new Set<string>();
  readonly #tokens: string[] = [];
  readonly #kind: string;
  #next = 0;

  /** @param kind name of the expression in error messages */
  constructor(text: string, kind: string) {
    this.#kind = kind;
    if (text === '') throw this.error('The expression can not be empty;');
    for (token.lastIndex = 0; token.lastIndex < text.length; ) {
      const from = token.lastIndex;
      const [, word, sign] = token.exec(text) ?? [];
      if (word === undefined && sign === undefined)
        throw this.error(`Syntax error; token: "${text[from]}", near: "${text.slice(from, from + 10)}"`);
      this.#tokens.push((word ?? sign) as string);
    }
  }

  error(message: string) {
    return invalid(`Invalid ${this.#kind}: ${message}`);
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#tokens.length;
  }

  peek(ahead = 0): string {
    return this.#tokens[this.#next + ahead] ?? '<EOF>';
  }

  take(): string {
    const taken = this.peek();
    this.#next++;
    return taken;
  }

  /** Takes the sign or the keyword, in any case, if it is the next token. */
  takeIf(expected: string): boolean {
    const isNext = this.peek() === expected || (keywords.has(expected) && this.peek().toUpperCase() === expected);
    if (isNext) this.#next++;
    return isNext;
  }

  expect(expected: string): void {
    if (!this.takeIf(expected)) throw this.unexpected();
  }

  end(): void {
    if (!this.isAtEnd) throw this.unexpected();
  }

  unexpected() {
    const near = this.#tokens.slice(Math.max(0, this.#next - 1), this.#next + 2).join(' ');
    return this.error(`Syntax error; token: "${this.peek()}", near: "${near}"`);
  }

  get isFunction(): boolean {
    return /^[A-Za-z_]/.test(this.peek()) && !keywords.has(this.peek().toUpperCase()) && this.peek(1) === '(';
  }

  /** The name of a function and its opening parenthesis. */
  functionName(): string {
    const name = this.take();
    this.expect('(');
    return name;
  }

  list<T>(read: () => T): T[] {
    const all = [read()];
    while (this.takeIf(',')) all.push(read());
    return all;
  }

  path(): PathOperand {
    const path: Path = [this.#name()];
    for (;;) {
      if (this.takeIf('.')) path.push(this.#name());
      else if (this.takeIf('[')) {
        if (!/^\d+$/.test(this.peek())) throw this.unexpected();
        path.push(Number(this.take()));
        this.expect(']');
      } else return { kind: 'path', path };
    }
  }

  value(): ValueOperand {
    if (!this.peek().startsWith(':')) throw this.unexpected();
    const name = this.take();
    this.values.add(name);
    return { kind: 'value', name };
  }

  pathOrValue(): PathOperand | ValueOperand {
    return this.peek().startsWith(':') ? this.value() : this.path();
  }

  #name(): string {
    const name = this.peek();
    if (!/^[A-Za-z_#]/.test(name) || this.isAtEnd) throw this.unexpected();
    if (isReserved(name)) throw this.error(`Attribute name is a reserved keyword; reserved keyword: ${name}`);
    if (name.startsWith('#')) this.names.add(name);
    return this.take();
  }
}
