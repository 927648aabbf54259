/** Reading the logs of phases from the address that the API gives. */

const pieceOf = async (logReadUrl: string, offset: number): Promise<Uint8Array | undefined> => {
  const response = await fetch(`${logReadUrl}?limit=65536&offset=${offset}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return response.ok ? bytes : undefined;
};

/** The bytes around a complete log. */
const frame = { begin: 0x02, end: 0x03 };

const inFrame = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(bytes[0] === frame.begin ? 1 : 0, bytes.at(-1) === frame.end ? -1 : undefined);

/** A log so far. @throws {Error} if it cannot be read */
export const readLog = async (logReadUrl: string): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for (let offset = 0; ; ) {
    const bytes = await pieceOf(logReadUrl, offset);
    if (!bytes) throw new Error('The log could not be read. Try again.');
    const isLast = bytes.length === 0 || bytes.at(-1) === frame.end;
    text += decoder.decode(inFrame(bytes), { stream: !isLast });
    if (isLast) return text;
    offset += bytes.length;
  }
};

/** Follows a growing log: yields text, ends with the log's closing byte or when `over` returns true. */
export async function* followLog(
  logReadUrl: string,
  over: () => boolean | Promise<boolean>,
  everyMs = 100,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Read once more after the end, for output since the last read.
  let isLastRead = false;
  for (let offset = 0; ; ) {
    // A failed read is retried while the log may still grow.
    const bytes = await pieceOf(logReadUrl, offset).catch(() => undefined);
    if (bytes?.length) {
      offset += bytes.length;
      const ended = bytes.at(-1) === frame.end;
      yield decoder.decode(inFrame(bytes), { stream: !ended });
      if (ended) return;
      continue;
    }
    if (isLastRead) return;
    isLastRead = await over();
    if (!isLastRead) await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
