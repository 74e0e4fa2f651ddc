// The server that the SDK's tests call, and what they do with it.
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { Remit, type RemitOptions } from '../src/index.ts'
import { AnsweringServer } from './answering-server.ts'

export const apiKey = 'rmt_0123456789abcdefSECRET'

class FarEnd extends AnsweringServer {
	get url(): string {
		return `http://127.0.0.1:${this.port}`
	}

	/** A client of this server, which sends nothing twice unless it is told to. */
	client(options: Partial<RemitOptions> = {}): Remit {
		return new Remit({ apiKey, baseUrl: this.url, maxRetries: 0, ...options })
	}
}

/** A server for all tests of a file. Each test begins without requests, and with `{"data":{}}` as the answer. */
export function farEnd(): FarEnd {
	const far = new FarEnd()
	beforeAll(async () => {
		await far.listen()
	})
	beforeEach(() => far.reset())
	afterAll(() => far.close())
	return far
}

/** The error with which a call rejects. */
export async function failure(call: Promise<unknown>): Promise<Error> {
	return call.then(
		(result) => Promise.reject(new Error(`expected a failure, got ${JSON.stringify(result)}`)),
		(error: unknown) => error as Error,
	)
}
