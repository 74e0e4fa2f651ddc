// Loads the server's own undici. The types cover only what is used.
import { createRequire } from 'node:module'

interface Answer {
	readonly statusCode: number
	readonly body: { dump(): Promise<void> }
}

interface Options {
	readonly method: 'GET' | 'POST'
	readonly dispatcher: object
	readonly headers: Readonly<Record<string, string>>
	readonly body?: string
}

interface Handler {
	onRequestStart(): void
	onResponseStart(controller: object, status: number): void
	onResponseData(): void
	onResponseEnd(): void
	onResponseError(controller: object, error: Error): void
}

interface Agent {
	dispatch(options: Omit<Options, 'dispatcher'> & { readonly origin: string; readonly path: string }, handler: Handler): void
}

interface Undici {
	readonly Agent: new (options?: { readonly connections?: number }) => Agent
	readonly request: (url: string, options: Options) => Promise<Answer>
}

export const loadUndici = () => createRequire(new URL('../../server/package.json', import.meta.url))('undici') as Undici
