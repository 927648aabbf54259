import { environment } from '#platform/environment.ts';
import { dnsSuffix, send } from './aws.ts';

interface Refusal {
  name: string;
  message: string;
  status: number;
}

/** Sends a message with SES (SES API v2: SendEmail). Undefined if SES accepted it. */
export const callEmail = async (message: object): Promise<Refusal | undefined> => {
  const { region } = environment;
  const base = environment.endpoint('SESV2') ?? `https://email.${region}.${dnsSuffix(region)}`;
  const body = JSON.stringify(message);
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  // One retry only: if the response was lost, a retry sends the message twice.
  const answer = await send('ses', `${base}/v2/email/outbound-emails`, call, { tries: 2 });
  if (answer.status === 200) return undefined;
  const text = answer.body.toString('utf8').slice(0, 500);
  const { __type, message: why } = read(text);
  const code = String(answer.headers['x-amzn-errortype'] ?? __type ?? '').split(':')[0];
  return { name: code || `Http${answer.status}`, message: why ?? text, status: answer.status };
};

const read = (text: string): { __type?: string; message?: string } => {
  try {
    return JSON.parse(text) as { __type?: string; message?: string };
  } catch {
    return {};
  }
};
