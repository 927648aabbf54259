import type { Aws } from '#test/support/aws.ts';
import { addLayer, inputText } from '#test/support/table-layers.ts';

interface Overheard {
  /** Everything written to the table, passed to functions and to the machine, and logged since then. */
  text(): string;
  stop(): void;
}

/** For tests that a secret is in none of it. */
export const overhear = (aws: Aws): Overheard => {
  const { error, warn, log } = console;
  const heard: string[] = [];
  const note =
    (original: typeof log) =>
    (...words: unknown[]): void => {
      heard.push(words.map(String).join(' '));
      original(...words);
    };
  const removeLayer = addLayer((operation, input, next) => {
    heard.push(inputText(input));
    return next(operation, input);
  });
  Object.assign(console, { error: note(error), warn: note(warn), log: note(log) });
  const shifted = aws.invoked.shift.bind(aws.invoked);
  aws.invoked.shift = () => {
    const next = shifted();
    if (next) heard.push(JSON.stringify(next));
    return next;
  };
  return {
    text: () => [...heard, JSON.stringify(aws.invoked), JSON.stringify(aws.sent)].join('\n'),
    stop: () => {
      removeLayer();
      Object.assign(console, { error, warn, log });
      aws.invoked.shift = shifted;
    },
  };
};
