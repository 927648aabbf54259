import { describe, expect, it } from 'vitest';
import { template } from '#test/infra/template.ts';
import { leaveOut } from './left-out.ts';

describe('the deployment to an emulator', () => {
  it('leaves out alarms on expressions, and nothing else', () => {
    const copy = structuredClone(template);
    const leftOut = leaveOut(copy);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(Object.keys(copy.Resources).length).toBe(Object.keys(template.Resources).length - leftOut.length);
    expect(leftOut.map((id) => template.Resources[id]?.Type)).toEqual(leftOut.map(() => 'AWS::CloudWatch::Alarm'));
  });
});
