import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

/**
 * Filters the output of `terraform init` for the log. Keeps downloads of modules and providers, warnings and errors.
 * Omits the runner's internals: the backend that stores the state in a file, built-in providers, success messages,
 * and the lock file, which users do not get.
 */

/** First lines of paragraphs to omit, which end at the next empty line. */
const plumbing = [
  /^Initializing the backend\.\.\./,
  /^Successfully configured the backend/,
  /^(Terraform|OpenTofu) has been successfully initialized/,
  /^(Terraform|OpenTofu) has created a lock file/,
];
/** Headings that are only kept if lines follow. */
const heading = /^Initializing \S.*\.\.\.$/;
/** Providers that are part of Terraform, modules that are part of the configuration. */
const builtIn = /^- \S+ (is built in to |in (?!\.terraform\/))/;

export class InitOutput {
  readonly #emit: (bytes: Buffer) => void;
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #heading = '';
  #skipping = false;
  #boxed = false;
  /** In an error or a warning without a box, which has empty lines and indentation. */
  #isProblem = false;
  #hasGap = false;
  #written = false;

  constructor(emit: (bytes: Buffer) => void) {
    this.#emit = emit;
  }

  push(bytes: Buffer): void {
    const lines = (this.#line + this.#decoder.write(bytes)).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  /** Separates the output from what follows. */
  end(): void {
    if (this.#line) this.#read(this.#line);
    this.#line = '';
    if (this.#written) this.#write('');
  }

  #read(line: string): void {
    const text = stripVTControlCharacters(line).trim();
    if (text.startsWith('╷')) this.#boxed = true;
    // Boxes, and errors of versions without boxes, are Terraform's messages to users: kept with their colours.
    if (this.#boxed) this.#write(line);
    else this.#readPlain(text, line);
    if (text.startsWith('╵')) this.#boxed = false;
  }

  #readPlain(text: string, line: string): void {
    if (/^(Error|Warning): /.test(text)) {
      this.#skipping = false;
      this.#isProblem = true;
    }
    if (text === '') {
      this.#skipping = false;
      this.#hasGap = this.#isProblem;
      return;
    }
    if (heading.test(text)) {
      this.#isProblem = false;
      this.#skipping = plumbing.some((pattern) => pattern.test(text));
      this.#heading = this.#skipping ? '' : text;
      return;
    }
    if (plumbing.some((pattern) => pattern.test(text))) this.#skipping = true;
    if (this.#skipping || builtIn.test(text)) return;
    if (this.#heading) this.#write(this.#heading);
    this.#heading = '';
    if (this.#isProblem && this.#hasGap) this.#write('');
    this.#hasGap = false;
    this.#write(this.#isProblem ? line.trimEnd() : text);
  }

  #write(line: string): void {
    this.#written = true;
    this.#emit(Buffer.from(`${line}\n`));
  }
}
