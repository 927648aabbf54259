import { UserIds } from '#runner/program/terraform/user-ids.ts';

const [, , folder = '', runFolder = ''] = process.argv;
const ids = new UserIds({ folder, range: { first: 60_000, runs: 1600 } });
process.send?.(Array.from({ length: 100 }, () => ids.take(runFolder)));
