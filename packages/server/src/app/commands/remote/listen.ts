// `remit listen`: brings the events of a server, which cannot call this machine, to a receiver on it, as webhooks.

import { type Command, Option } from 'commander'
import { isEventPattern } from '../../../platform/contract/event-patterns.ts'
import { UsageError } from '../command.ts'
import type { Listening } from './listener.ts'
import { type RemoteOptions, remoteCommand, requireKey } from './remote.ts'

interface Options extends RemoteOptions {
	readonly forwardTo: string
	readonly events?: string
	readonly secret?: string
	readonly since?: string
	readonly cursor?: string
	readonly replay?: string
}

export function addListenCommand(program: Command): void {
	remoteCommand(program, 'listen', 'Forward the events of a server to a receiver on this machine, as signed webhooks.', 'read')
		.requiredOption('--forward-to <url>', 'the receiver, such as http://127.0.0.1:4000/remit')
		.option('--events <list>', 'a comma list of types and patterns, such as invoice.paid,company.*; all when absent')
		.addOption(new Option('--secret <secret>', 'whsec_…, to sign with; a new one when absent').env('REMIT_WEBHOOK_SECRET'))
		.addOption(new Option('--since <time>', 'begin with the events from then on: 15m, 2h, 1d or 2026-11-22T09:30:00Z'))
		.addOption(new Option('--replay <count>', 'begin with the last events, 100 at most').conflicts(['since', 'cursor']))
		.addOption(new Option('--cursor <cursor>', 'begin after this place, which listen prints when it ends').conflicts('since'))
		// Loaded only here, as it needs the SDK.
		.action(async (options: Options) => (await import('./listener.ts')).listen(parse(options, Date.now())))
}

function parse(options: Options, now: number): Listening {
	const { url, events, json = false } = options
	const apiKey = requireKey(options)
	const patterns = events?.split(',').map((pattern) => pattern.trim())
	const unknown = patterns?.filter((pattern) => !isEventPattern(pattern)) ?? []
	if (unknown.length > 0)
		throw new UsageError(`--events ${events}: no event is ${unknown.join(' or ')}; GET /webhooks/event-types lists them`)
	return {
		apiKey,
		url,
		target: parseTarget(options.forwardTo),
		secret: parseSecret(options.secret),
		...(patterns && { patterns }),
		start: parseStart(options, now),
		json,
	}
}

/** Without a scheme it is http, since it is most likely on this machine. */
function parseTarget(text: string): URL {
	const full = text.includes('://') ? text : `http://${text}`
	const url = URL.canParse(full) ? new URL(full) : undefined
	if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url
	throw new UsageError(`--forward-to ${text}: must be an http or https URL, such as http://127.0.0.1:4000/remit`)
}

function parseSecret(text: string | undefined): string | undefined {
	if (text === undefined) return undefined
	const key = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1]
	const { length } = Buffer.from(key ?? '', 'base64')
	if (length >= 24 && length <= 64) return text
	throw new UsageError('--secret: must be whsec_ and the base64 of 24 to 64 bytes')
}

function parseStart({ since, cursor, replay }: Options, now: number): Listening['start'] {
	if (since !== undefined) return { since: parseTime(since, now) }
	if (replay === undefined) return { cursor: cursor ?? 'now' }
	const count = /^\d{1,3}$/.test(replay) ? Number(replay) : 0
	if (count < 1 || count > 100) throw new UsageError(`--replay ${replay}: must be a number from 1 to 100`)
	return { replay: count }
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseTime(text: string, now: number): number {
	const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
	const time =
		count === undefined ? Date.parse(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : '') : now - Number(count) * (unitMs[unit] ?? 0)
	if (Number.isNaN(time)) throw new UsageError(`--since ${text}: must be a time such as 15m, 2h, 1d or 2026-11-22T09:30:00Z`)
	return Math.max(0, time)
}
