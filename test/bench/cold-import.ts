import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { median } from './figures.ts';

const run = promisify(execFile);
export const importRounds = 5;

/** Duration of loading a bundle in a new process, median of 5, in ms. As deployed, unless Node gets options. */
export const coldImportMs = async (file: string, ...options: string[]): Promise<number> => {
  const script = `const t = performance.now(); require(${JSON.stringify(file)}); console.log(performance.now() - t)`;
  const took: number[] = [];
  for (let i = 0; i < importRounds; i++) {
    took.push(Number((await run(process.execPath, [...options, '-e', script])).stdout));
  }
  return median(took);
};
