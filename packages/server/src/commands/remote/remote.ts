// Commands that use a server through its API, with a key, from any machine.
import type { Remit } from '@remit/sdk'
import { type Command, Option } from 'commander'
import { command, UsageError } from '../command.ts'
import { profileOption } from '../shell/profiles.ts'

export interface RemoteOptions {
	readonly apiKey?: string
	readonly url: string
	readonly json?: boolean
}

/** Adds the options that say which server a command uses, as whom. */
export const serverOptions = (command: Command, scope: string) =>
	profileOption(command)
		.addOption(new Option('--api-key <key>', `a key with the scope ${scope}; better in REMIT_API_KEY`).env('REMIT_API_KEY'))
		.addOption(new Option('--url <url>', 'the Remit server').env('REMIT_BASE_URL').default('http://127.0.0.1:3000'))

export const remoteCommand = (parent: Command, name: string, description: string, scope: 'read' | 'write' | 'admin') =>
	serverOptions(command(parent, name, description), scope)

export function requireKey({ apiKey }: RemoteOptions): string {
	if (apiKey) return apiKey
	throw new UsageError('--api-key: a key is needed, here, in REMIT_API_KEY or in a --profile; remit keys create makes one')
}

/** Does the work with a client of the server. What the server says no to is one sentence for the user. */
export async function withServer(options: RemoteOptions, work: (remit: Remit) => Promise<void>): Promise<void> {
	const apiKey = requireKey(options)
	// Loaded only here: other commands need no SDK.
	const { openClient, toUsageError } = await import('./client.ts')
	try {
		await work(openClient(apiKey, options.url))
	} catch (error) {
		throw toUsageError(error, options.url)
	}
}
