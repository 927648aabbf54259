import { putOnce } from '#platform/store/bucket.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { type Artifact, shortened } from '#run/phase-report.ts';
import { maxEnclosedBytes, type ReportRequest } from '#run/protocols/runner.ts';
import { type Caller, ProtocolError } from './caller.ts';

/**
 * Stores the files that are enclosed in a report: each once, and only if it matches its checksum. Call it before the
 * report is recorded.
 * @throws {ProtocolError} 422
 */
export const storeEnclosed = async (
  { run, phase }: Caller,
  { enclosed = {}, artifacts }: Pick<ReportRequest, 'enclosed' | 'artifacts'>,
): Promise<void> => {
  // The report is repeated: its files are already stored.
  if (run[phase].report) return;
  const contents = Object.entries(enclosed).map(([name, base64]) => {
    const content = Buffer.from(base64, 'base64');
    const sha256 = sha256Of(content);
    if (shortened(sha256) !== artifacts?.[name as Artifact])
      throw new ProtocolError(422, `enclosed.${name}: does not match its checksum`);
    return { key: objects.artifact(run.id, phase, name), content, sha256 };
  });
  if (contents.reduce((sum, { content }) => sum + content.length, 0) > maxEnclosedBytes)
    throw new ProtocolError(422, `enclosed: has more than ${maxEnclosedBytes} bytes in total`);
  await Promise.all(contents.map(({ key, content, sha256 }) => putOnce(key, content, sha256)));
};
