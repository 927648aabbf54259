import { styleText } from 'node:util';

/** Colours where the terminal shows them (and NO_COLOR is not set). */
const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { stream: process.stdout });

export const bold = style('bold');
export const dim = style('dim');
export const green = style('green');
export const red = style('red');
export const yellow = style('yellow');

export const section = (title: string): void =>
  console.log(`\n${bold(`── ${title} ${'─'.repeat(Math.max(3, 70 - title.length))}`)}`);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
