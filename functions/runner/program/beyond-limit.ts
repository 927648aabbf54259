/** What a log keeps of Terraform's output after its limit: results and errors as JSON lines, and the end of other text. */

/** Messages of `-json` output that say how something ended. */
const result = /"type":"(apply_complete|apply_errored|provision_errored|diagnostic|change_summary|outputs)"/;

/** The end of a text output has its summary, its errors and its outputs. */
const maxTextBytes = 65_536;
/** A longer line is not held until its end. */
const maxLineBytes = 2 ** 20;

export class BeyondLimit {
  readonly #maxResultBytes: number;
  #resultBytes = 0;
  /** The beginning of a line whose end has not come. */
  #rest = Buffer.alloc(0);
  #text = Buffer.alloc(0);

  /** @param maxResultBytes of results; later ones are left out */
  constructor(maxResultBytes: number) {
    this.#maxResultBytes = maxResultBytes;
  }

  /** @returns the lines with results, to be written at once */
  push(bytes: Buffer): Buffer {
    const all = Buffer.concat([this.#rest, bytes]);
    const end = all.length > maxLineBytes ? all.length : all.lastIndexOf('\n') + 1;
    this.#rest = Buffer.from(all.subarray(end));
    return this.#sorted(all.subarray(0, end));
  }

  /** The rest, at the end of the log. */
  end(): Buffer {
    const results = this.#sorted(this.#rest);
    return Buffer.concat([results, this.#text]);
  }

  #sorted(lines: Buffer): Buffer {
    const results: string[] = [];
    const texts: string[] = [];
    for (const line of lines.toString('latin1').split(/(?<=\n)/)) {
      if (!line.startsWith('{"@')) texts.push(line);
      else if (result.test(line) && this.#resultBytes + line.length <= this.#maxResultBytes) {
        this.#resultBytes += line.length;
        results.push(line);
      }
    }
    const text = Buffer.concat([this.#text, Buffer.from(texts.join(''), 'latin1')]);
    const cut = text.length > maxTextBytes ? text.indexOf('\n', text.length - maxTextBytes) + 1 : 0;
    this.#text = Buffer.from(text.subarray(cut || Math.max(0, text.length - maxTextBytes)));
    return Buffer.from(results.join(''), 'latin1');
  }
}
