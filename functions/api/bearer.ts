import type { ApiRequest } from './request.ts';

const bearer = /^Bearer +(\S+)$/i;

export const secretOf = (request: ApiRequest): string => bearer.exec(request.header('authorization') ?? '')?.[1] ?? '';
