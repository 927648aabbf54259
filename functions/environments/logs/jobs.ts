import { logOfBuild } from './build-log.ts';
import { logOfDryRun } from './dry-run-log.ts';
import type { JobLog, ReadJobLog } from './job-log.ts';
import type { JobKind } from './tickets.ts';
import { logOfVersion } from './version-log.ts';

const logs: Record<JobKind, ReadJobLog> = { version: logOfVersion, 'dry-run': logOfDryRun, build: logOfBuild };

export const jobLog = (kind: JobKind, id: string): Promise<JobLog | undefined> => logs[kind](id);
