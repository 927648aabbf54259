import { describe, expect, it } from 'vitest';
import { ApplyProgress } from '#run/apply-progress.ts';

const read = (lines: [string, number][]): ApplyProgress => {
  const progress = new ApplyProgress();
  for (const [line, at] of lines) progress.readText(line, at);
  return progress;
};
const addresses = (progress: ApplyProgress, now: number) => progress.openAt(now).map(({ address }) => address);

describe('the progress of an apply', () => {
  it('contains changes that started and did not complete, with their start', () => {
    const progress = read([
      ['aws_vpc.a: Creating...', 1_000],
      ['aws_db_instance.main["x: y"]: Modifying... [id=db]', 2_000],
      ['module.m.aws_instance.c[0]: Destroying... [id=i]', 3_000],
      ['data.aws_ami.d: Reading...', 3_000],
      ['aws_vpc.a: Creation complete after 2s [id=vpc]', 4_000],
      ['aws_db_instance.main["x: y"]: Still modifying... [id=db, 10s elapsed]', 12_000],
      ['module.m.aws_instance.c[0]: Still destroying... [id=i, 10s elapsed]', 13_000],
    ]);
    expect(progress.openAt(14_000)).toEqual([
      { address: 'aws_db_instance.main["x: y"]', since: 2_000 },
      { address: 'module.m.aws_instance.c[0]', since: 3_000 },
    ]);
  });

  it('drops a resource that Terraform no longer names, because it has failed', () => {
    const progress = read([
      ['aws_vpc.a: Creating...', 0],
      ['aws_vpc.b: Creating...', 0],
      ['aws_vpc.b: Still creating... [10s elapsed]', 10_000],
    ]);
    expect(addresses(progress, 20_000)).toEqual(['aws_vpc.b']);
    expect(progress.changes.open).toEqual(['aws_vpc.a', 'aws_vpc.b']);
  });

  it("does not mistake output of a provisioner for Terraform's own", () => {
    const progress = read([
      ['null_resource.a: Creating...', 0],
      ['null_resource.a (local-exec): null_resource.b: Creating...', 0],
      ['null_resource.a (remote-exec): null_resource.a: Creation complete after 1s', 0],
    ]);
    expect(progress.changes.open).toEqual(['null_resource.a']);
  });

  it('is the same for JSON lines', () => {
    const progress = new ApplyProgress();
    const line = (type: string, addr: string, action = 'create') =>
      progress.readJson({ type, hook: { resource: { addr }, action } }, 0);
    line('apply_start', 'a.done');
    line('apply_start', 'a.failed');
    line('apply_start', 'data.read', 'read');
    line('apply_start', 'a.open');
    line('apply_complete', 'a.done');
    line('apply_errored', 'a.failed');
    expect(progress.changes).toEqual({ done: ['a.done'], open: ['a.open'] });
  });
});
