import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#clients/client/client.ts';
import { databaseFile } from '#infra/local/host/database.ts';
import { type Figure, round, type Section } from './figures.ts';

const runs = 40;

/** Files of a data folder and their bytes, with SQLite's log in its database. */
const sizeOf = async (folder: string): Promise<{ files: number; bytes: number }> => {
  const database = new DatabaseSync(join(folder, databaseFile), { timeout: 5000 });
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
  const sizes = await Promise.all(files.map((file) => stat(file).then(({ size }) => size)));
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
};

export const disk: Section = {
  about: `what ${runs} runs without a resource add to the data folder`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const folder = dirname(dirname(platform.caFile));
    const client = new Client(platform.url, platform.token);
    const workspace = await client.createWorkspace(platform.organization, 'disk', { 'auto-apply': true });
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' }));
    const run = async () => client.waitForRun((await client.createRun(workspace.id, {}, version.id)).id, isFinalRun);
    // The first one applies the output; later ones change nothing.
    await run();
    await run();
    const before = await sizeOf(folder);
    for (let n = 0; n < runs; n++) await run();
    const after = await sizeOf(folder);
    yield { name: 'files per run', value: round((after.files - before.files) / runs, 1), unit: '', atMost: 2 };
    yield {
      name: 'disk per run',
      value: round((after.bytes - before.bytes) / runs / 1000, 1),
      unit: 'KB',
      atMost: 10,
    };
  },
};
