import { createHash, randomUUID } from 'node:crypto';
import { elements } from '#clients/cli/account-checks.ts';
import { type Check, expect, ok } from '../check.ts';
import { presignedRequest } from '../target.ts';

export const uploadChecksum: Check = {
  name: 'upload checksum',
  proves: 'Storage refuses a presigned upload whose content has another checksum, and a second upload to the same key',
  documented: '400 for another checksum, 412 for a second upload (S3: checksums, conditional writes)',
  async perform(platform) {
    const { target } = platform;
    // Below this prefix, objects expire after a week.
    const key = `uploads/stepform-verify-${randomUUID()}`;
    const content = 'stepform verify';
    const headers = {
      'x-amz-checksum-sha256': createHash('sha256').update(content).digest('base64'),
      'if-none-match': '*',
    };
    const put = async (body: string) => {
      const response = await fetch(await presignedRequest(target, 'PUT', key, headers), { body });
      const [code = ''] = elements(await response.text(), 'Code');
      return { answer: `${response.status} ${code}`.trim(), response };
    };
    const wrong = await put(`${content}?`);
    // S3 and its emulators name it differently.
    const isRefused = /^400 (BadDigest|InvalidDigest|XAmzContentChecksumMismatch)$/.test(wrong.answer);
    expect(isRefused, `other content was answered with ${wrong.answer}, not 400 BadDigest`);
    const first = await put(content);
    expect(first.response.ok, `the right content was answered with ${first.answer}`);
    const version = first.response.headers.get('x-amz-version-id');
    const stored = version ? `${key}?versionId=${encodeURIComponent(version)}` : key;
    platform.onRemoval(async () => {
      const { ok: isRemoved, status } = await fetch(await presignedRequest(target, 'DELETE', stored));
      expect(isRemoved, `the object ${key} could not be deleted: ${status}`);
    });
    const { answer: again } = await put(content);
    expect(again.startsWith('412'), `a second upload was answered with ${again}, not 412`);
    return ok('400 for other content, 412 for a second upload');
  },
};
