import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Runs a run's code in its room, without the platform. */

const worker = fileURLToPath(new URL('../runner/program/terraform/room-worker.ts', import.meta.url));

export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'in-room-'));
  chmodSync(folder, 0o711);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

interface Start {
  /** The command that starts the runner program. */
  before?: string[];
  /** A file descriptor that it inherits. */
  file?: { number: number; handle: number };
}

/** Output of the run. */
export const printed = (script: string, { before = [], file }: Start = {}): Promise<string> => {
  const [program = '', ...args] = [...before, process.execPath, worker, newFolder(), script];
  const stdio = ['ignore', 'pipe', 'inherit', ...Array(200).fill('ignore')];
  if (file) stdio[file.number] = file.handle;
  const child = spawn(program, args, { stdio });
  return text(child.stdout as NodeJS.ReadableStream);
};
