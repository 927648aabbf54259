import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../transport/errors.ts';
import { makeFolder } from './tree.ts';

/**
 * Serves a text as a named pipe. Terraform reads one like any file, but its `fileset` and whatever else looks for regular files
 * pass it by, so that a configuration finds the same files here as elsewhere.
 *
 * Every reader gets a pipe of its own: the next one takes its place before this one is written to. What a reader left unread, or
 * a second reader, could otherwise be mixed up.
 */
const server = `
exec 4<&0; (read -r _ <&4; kill -KILL 0) >/dev/null 2>&1 &
trap '' PIPE
while mkfifo -m 644 "$1.next"; do
  exec 3>"$1"
  mv -f "$1.next" "$1" || exit 1
  printf '%s' "$2" >&3
  exec 3>&-
done`;

export class OverridePipe {
  /** Where it is read. In a folder that Terraform's user cannot write to: the runner opens it again and again. */
  readonly path: string;
  readonly text: string;
  #process: ChildProcess | undefined;

  /** @param folder the runner's, which Terraform's user can get to */
  constructor(folder: string, text: string) {
    makeFolder(folder, 0o755);
    this.path = join(folder, 'backend.tf');
    this.text = text;
    const env = { PATH: process.env.PATH };
    try {
      // Now: Terraform may be the next thing that is started.
      execFileSync('mkfifo', ['-m', '644', this.path], { env, stdio: 'ignore' });
    } catch (error) {
      this.#fallBack(messageOf(error));
      return;
    }
    // A group of its own, which ends when the runner does.
    const child = spawn('/bin/sh', ['-c', server, 'sh', this.path, text], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env,
    });
    child.on('error', (error) => this.#fallBack(messageOf(error)));
    child.on('exit', (code) => code !== null && this.#fallBack(`it ended with ${code}`));
    child.stdin?.on('error', () => {});
    child.unref();
    (child.stdin as { unref?(): void } | null)?.unref?.();
    this.#process = child;
  }

  /** A reader would wait forever. */
  #fallBack(why: string): void {
    console.error(`the pipe with the backend's configuration is a file: ${why}`);
    rmSync(this.path, { force: true });
    writeFileSync(this.path, this.text, { mode: 0o644 });
  }

  close(): void {
    const pid = this.#process?.pid;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Ended already.
    }
  }
}
