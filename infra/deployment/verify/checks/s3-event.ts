import { packFiles } from '#clients/cli/archive.ts';
import { type Check, expect, seconds, until, within } from '../check.ts';

/** The command line waits as long for an upload. */
const maximum = 30;

export const s3Event: Check = {
  name: 'event from S3',
  proves: 'An upload to the bucket reaches its function through EventBridge',
  documented: `a configuration is accepted within ${maximum} s`,
  part: 'canary',
  async perform(platform) {
    const { client } = platform;
    const { id } = await platform.newWorkspace('upload');
    const version = await client.create(`/workspaces/${id}/configuration-versions`, 'configuration-versions', {
      'auto-queue-runs': false,
    });
    const body = new Uint8Array(await packFiles({ 'main.tf': '' }));
    const put = await fetch(version.attributes['upload-url'], { method: 'PUT', body });
    expect(put.ok, `the upload was answered with ${put.status}`);
    const began = Date.now();
    // Reading the version itself would accept the upload without the event.
    const statusInList = async () => {
      const versions = await client.list(`/workspaces/${id}/configuration-versions`);
      return versions[0]?.attributes.status;
    };
    const status = await until('the configuration is accepted', statusInList, (now) => now !== 'pending', 120);
    expect(status === 'uploaded', `the configuration is ${status}`);
    const took = (Date.now() - began) / 1000;
    return within(took, maximum, `accepted ${seconds(took)} after its upload`, { seconds: took });
  },
};
