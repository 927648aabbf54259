import { duration } from '#clients/client/text/time.ts';
import { dim } from './paint.ts';

/** A status line with the current step and its duration; only on terminals that can move the cursor. */

export interface Progress {
  /** Prints a line that stays. */
  print(line: string): void;
  /** Starts a step. */
  set(text: string): void;
  end(): void;
}

const clear = '\r\x1b[2K';

export const startProgress = (out: NodeJS.WriteStream = process.stdout): Progress => {
  if (!out.isTTY || process.env.TERM === 'dumb') {
    return { print: (line) => out.write(`${line}\n`), set: () => {}, end: () => {} };
  }
  let text = '';
  let since = Date.now();
  let visible = false;
  const draw = () => {
    if (!text) return;
    const line = `${text} … ${duration(Date.now() - since).replace(/\.\d s/, ' s')}`;
    out.write(`${clear}${dim(line.slice(0, (out.columns || 80) - 1))}`);
    visible = true;
  };
  const wipe = () => {
    if (visible) out.write(clear);
    visible = false;
  };
  const timer = setInterval(draw, 1000);
  return {
    print: (line) => {
      wipe();
      out.write(`${line}\n`);
    },
    set: (next) => {
      wipe();
      text = next;
      since = Date.now();
    },
    end: () => {
      clearInterval(timer);
      wipe();
    },
  };
};
