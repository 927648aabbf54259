import { expect, it } from 'vitest';
import { movedPorts } from '../../../infra/local/moved-ports.ts';

const at = (http: number, https: number, aws: number) => ({
  url: `http://localhost:${http}`,
  httpsUrl: `https://localhost:${https}`,
  awsEndpointUrl: `http://127.0.0.1:${aws}`,
});

it('records nothing while the ports stay the same', () => {
  expect(movedPorts({}, at(1, 2, 3), at(1, 2, 3))).toEqual({});
});

it('maps every former port to the latest one', () => {
  const once = movedPorts({}, at(1, 2, 3), at(11, 2, 13));
  expect(once).toEqual({ 1: 11, 3: 13 });
  expect(movedPorts(once, at(11, 2, 13), at(21, 22, 13))).toEqual({ 1: 21, 2: 22, 3: 13, 11: 21 });
});

it('does not map a port that is in use again', () => {
  expect(movedPorts({ 1: 11 }, at(11, 2, 3), at(1, 2, 3))).toEqual({ 11: 1 });
});
