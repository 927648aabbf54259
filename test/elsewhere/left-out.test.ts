import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { template } from '../infra/template.ts';
import { readDockerfile } from './containers.ts';
import { leaveOut } from './left-out.ts';

describe('the deployment to an emulator', () => {
  it('leaves out images and alarms on expressions, and nothing else', () => {
    const copy = structuredClone(template);
    const assets = { dockerImages: { image: {} } };
    const leftOut = leaveOut(copy, assets);
    expect(assets.dockerImages).toEqual({});
    expect(leftOut.length).toBeGreaterThan(0);
    expect(Object.keys(copy.Resources).length).toBe(Object.keys(template.Resources).length - leftOut.length);
    expect(leftOut.map((id) => template.Resources[id]?.Type)).toEqual(leftOut.map(() => 'AWS::CloudWatch::Alarm'));
  });

  it('starts the program that the Dockerfile names, as its user and with its environment', async () => {
    const image = readDockerfile(await readFile('functions/runner/Dockerfile', 'utf8'));
    expect(image).toEqual({
      entrypoint: expect.arrayContaining(['node', '/opt/runner/main.mjs']),
      environment: { STEPFORM_TERRAFORM_USERS: '60000', HOME: '/tmp' },
      user: 'root',
    });
  });
});
