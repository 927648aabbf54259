import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Separation, takeUsers, type Users } from '#runner/program/terraform/users.ts';

/** Creates the users of a run and its folder, which is removed after the test. */
export const newUsers = (separation: Partial<Separation> = {}): Users & { folder: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'room-test-'));
  chmodSync(folder, 0o711);
  const users = takeUsers({ terraformUsers: '', rooms: true, ...separation }, folder);
  onTestFinished(() => {
    users.plan.room?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...users, folder };
};

export const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
