// Commands that use a server through its API, with a key, from any machine.
import type { Remit } from '@remit/sdk'
import { type Command, Option } from 'commander'
import { command, UsageError } from '../command.ts'
import { profileOption, serverUrl } from '../shell/profiles.ts'

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
		.hook('preAction', (_, action) => {
			// What is read from a file often ends in a line break. Here, since a profile has been put in by now.
			const { apiKey, url } = action.opts<RemoteOptions>()
			if (apiKey !== undefined) action.setOptionValue('apiKey', keyIn(apiKey))
			action.setOptionValue('url', serverUrl(url))
		})

function keyIn(given: string): string {
	const key = given.trim()
	if (/^[\x21-\x7e]*$/.test(key)) return key
	throw new UsageError('--api-key: must be one word of ASCII, such as rmt_…, here, in REMIT_API_KEY or in a --profile')
}

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
