import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Response to bytes that never became a request, so that no function could handle it. */
const refusals: Record<string, [status: string, title: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408', 'Request Timeout', 'The request did not arrive in time. Send all of it at once.'],
  HPE_HEADER_OVERFLOW: ['431', 'Request Header Fields Too Large', 'Request line and headers have at most 10 KB.'],
};
const malformed = ['400', 'Bad Request', 'This is not an HTTP request.'] as const;

/** Answers in the API's own format, and closes the connection. */
export const answerClientErrors = (server: Server): void => {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { code = '' } = error;
    const refusal = refusals[code] ?? (code.startsWith('HPE_') ? malformed : undefined);
    // A broken connection, or one before the TLS handshake, gets no response.
    if (!refusal || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, title, detail] = refusal;
    const body = JSON.stringify({ errors: [{ status, title: title.toLowerCase(), detail }] });
    const head = [
      `HTTP/1.1 ${status} ${title}`,
      'connection: close',
      'content-type: application/vnd.api+json',
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
};
