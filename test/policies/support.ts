import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** A gzip tar of the files; a tuple is an entry of another type. */
export const archive = async (files: Record<string, string | { type: 'symlink' | 'link'; linkname: string }>) => {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string') tar.entry({ name }, content);
    else tar.entry({ name, ...content });
  }
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar as AsyncIterable<Buffer>) parts.push(part);
  return gzipSync(Buffer.concat(parts));
};

/** The files of a policy set with one policy, whose rule is given. */
export const denying = (rule: string, level = 'mandatory') => ({
  'policies.hcl': `policy "sizes" {\n  query = "data.terraform.sizes.deny"\n  enforcement_level = "${level}"\n  description = "No large machines"\n}\n`,
  'sizes.rego': `package terraform.sizes\n${rule}\n`,
});
