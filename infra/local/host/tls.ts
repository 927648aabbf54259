import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { StartError } from './errors.ts';

export interface Tls {
  key: string;
  /** Server certificate and authority. */
  cert: string;
  /** File with the authority's certificate, for `SSL_CERT_FILE` and the like. */
  caFile: string;
}

interface Files {
  caFile: string;
  key: string;
  cert: string;
}

const day = 24 * 3_600_000;

/**
 * Certificate for `localhost`, `127.0.0.1` and `::1`, issued by an authority of this data folder. Created on the first
 * start and renewed before it expires. The authority's key is discarded at once, so that a copy of the folder cannot
 * issue certificates for other names to users who trust the authority.
 * @param names further DNS names
 */
export const keepTls = async (folder: string, names: string[] = []): Promise<Tls> => {
  const files = {
    caFile: join(folder, 'ca.pem'),
    key: join(folder, 'server-key.pem'),
    cert: join(folder, 'server.pem'),
  };
  const all = Object.values(files);
  if (!all.every((file) => existsSync(file)) || expiresSoon(files)) await make(folder, files, names);
  return {
    key: readFileSync(files.key, 'utf8'),
    cert: readFileSync(files.cert, 'utf8') + readFileSync(files.caFile, 'utf8'),
    caFile: files.caFile,
  };
};

const expiresSoon = ({ caFile, key, cert }: Files): boolean => {
  const { validTo } = whole(cert, (content) => new X509Certificate(content));
  whole(caFile, (content) => new X509Certificate(content));
  whole(key, createPrivateKey);
  return Date.parse(validTo) - Date.now() < 30 * day;
};

/** @throws StartError for a damaged file */
const whole = <T>(file: string, read: (content: Buffer) => T): T => {
  try {
    return read(readFileSync(file));
  } catch (error) {
    throw new StartError(
      `${file} is damaged (${(error as Error).message}). Delete the folder ${dirname(file)}: the next start creates another certificate, which clients must trust again.`,
    );
  }
};

const make = async (folder: string, files: Files, names: string[]): Promise<void> => {
  // Imported on demand: it takes 200 ms, and most starts have a certificate.
  const { default: selfsigned } = await import('selfsigned');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const validity = { notBeforeDate: new Date(Date.now() - day), notAfterDate: new Date(Date.now() + 820 * day) };
  const common = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', ...validity } as const;
  // A unique name: with the same name, a client that trusts another folder's authority would reject this one's
  // signatures as invalid.
  const authority = `stepform local authority ${randomBytes(4).toString('hex')}`;
  const ca = await selfsigned.generate([{ name: 'commonName', value: authority }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
    ...common,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...['localhost', ...names].map((value) => ({ type: 2 as const, value })),
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  writePrivately(files.key, server.private);
  writePrivately(files.cert, withNewline(server.cert));
  writePrivately(files.caFile, withNewline(ca.cert));
};

const withNewline = (pem: string): string => (pem.endsWith('\n') ? pem : `${pem}\n`);
