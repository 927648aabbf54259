import { createHash, randomUUID } from 'node:crypto';
import { type Check, expect, ok } from '../check.ts';
import { presignedRequest } from '../target.ts';

export const uploadChecksum: Check = {
  name: 'upload checksum',
  proves: 'Storage refuses a presigned upload whose content has another checksum, and a second upload to the same key',
  documented: '400 for another checksum, 412 for a second upload (S3: checksums, conditional writes)',
  async perform({ target }) {
    // Below this prefix, objects expire after a week.
    const key = `uploads/stepform-verify-${randomUUID()}`;
    const content = 'stepform verify';
    const headers = {
      'x-amz-checksum-sha256': createHash('sha256').update(content).digest('base64'),
      'if-none-match': '*',
    };
    const put = async (body: string): Promise<Response> => {
      const response = await fetch(await presignedRequest(target, 'PUT', key, headers), { body });
      await response.arrayBuffer();
      return response;
    };
    const wrong = await put(`${content}?`);
    expect(wrong.status === 400, `other content was answered with ${wrong.status}, not 400`);
    const first = await put(content);
    expect(first.ok, `the right content was answered with ${first.status}`);
    const version = first.headers.get('x-amz-version-id');
    const again = await put(content);
    const removed = await fetch(
      await presignedRequest(target, 'DELETE', version ? `${key}?versionId=${encodeURIComponent(version)}` : key),
    );
    expect(again.status === 412, `a second upload was answered with ${again.status}, not 412`);
    expect(removed.ok, `the object ${key} could not be deleted: ${removed.status}`);
    return ok('400 for other content, 412 for a second upload');
  },
};
