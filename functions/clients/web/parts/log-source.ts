import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PhaseName } from '#run/run.ts';
import { repeat } from '../live.ts';
import { base } from '../location.ts';
import { LogText } from '../text/log-text.ts';

/** Maximum bytes that the API returns per request. */
const pieceBytes = 1_048_576;

/** Logs are read from this origin, regardless of the host in the API's URL. */
const ownUrl = (url: string): string => `${base}${new URL(url).pathname.replace(/^.*?(?=\/logs\/)/, '')}`;

const read = async (url: string, offset: number): Promise<Uint8Array> => {
  const response = await fetch(`${ownUrl(url)}?limit=${pieceBytes}&offset=${offset}`, {
    referrerPolicy: 'no-referrer',
  });
  if (!response.ok) throw new TypeError(`log: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

const quickMs = 400;
const slowMs = 900;

/**
 * Follows a log: reads without a pause to the end of the existing output, then every 400 to 900 ms.
 * @param onEnd called at the log's end, unless the phase was already over
 */
export const useLogText = (name: PhaseName, url: string, over: boolean, onEnd: () => void) => {
  const log = useMemo(() => new LogText(name), [url]);
  const version = useSignal(0);
  const ended = useRef(over);
  ended.current = over;
  useEffect(() => {
    let quiet = 0;
    // Older output, from before the page was opened, gets no time of receipt.
    let caughtUp = false;
    const task = repeat(async () => {
      const bytes = await read(url, log.offset);
      if (log.append(bytes, caughtUp && !ended.current ? Date.now() : undefined)) version.value++;
      if (bytes.length < pieceBytes) caughtUp = true;
      if (log.closed) {
        if (!ended.current) onEnd();
        return undefined;
      }
      if (bytes.length >= pieceBytes) return 0;
      quiet = bytes.length ? 0 : quiet + 1;
      // A runner that crashed wrote no closing byte.
      if (ended.current && quiet > 2) return undefined;
      return quiet < 3 ? quickMs : slowMs;
    });
    return task.stop;
  }, [log, url, version]);
  return { log, version };
};
