import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Locks of the operating system. Node has no call for them, but SQLite takes one for an exclusive transaction, on Linux
 * and macOS with fcntl(2). The system releases it when the process ends, even if it is killed, and it holds between
 * containers that share a disk, where process ids are not comparable. A lock file is never deleted, and only this
 * module opens it: closing any other descriptor of the file would release the lock.
 */

const patienceMs = 120_000;
const pollMs = 25;

/** SQLite's result codes (sqlite.org/rescode.html). */
const busy = 5;
const notADatabase = 26;

/**
 * @returns a function that releases the lock; undefined while another process, or another part of this one, holds it
 */
export const tryLock = (file: string): (() => void) | undefined => {
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    writeFileSync(`${file}.holder`, `process ${process.pid} on ${hostname()}`);
    return () => {
      if (database.isOpen) database.close();
    };
  } catch (error) {
    database.close();
    const { errcode } = error as { errcode?: number };
    if (errcode === busy) return undefined;
    if (errcode === notADatabase)
      throw new Error(`${file} is not a lock of this version. Delete it if no other process uses its folder`);
    throw error;
  }
};

/** For error messages: the process that holds the lock, or held it last. */
export const holderOf = (file: string): string => {
  try {
    return readFileSync(`${file}.holder`, 'utf8');
  } catch {
    return 'an unknown process';
  }
};

/**
 * Runs `work` while no other process of this machine holds the file.
 * @throws {Error} that names the holder if the lock is not released within two minutes
 */
export const locked = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const release = tryLock(file);
    if (release) {
      try {
        return await work();
      } finally {
        release();
      }
    }
    if (Date.now() > deadline)
      throw new Error(`${file} is locked by ${holderOf(file)}. End that process if no build is running`);
    await delay(pollMs);
  }
};
