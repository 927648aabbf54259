import { bold, dim } from '#clients/cli/paint.ts';

export { bold, dim };

export const section = (title: string): void =>
  console.log(`\n${bold(`── ${title} ${'─'.repeat(Math.max(3, 70 - title.length))}`)}`);

export const heading = (title: string): void => console.log(`\n${bold(title)}`);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
