// Commands to a fake vendor from another process: POST /__control/<command> with the arguments as a JSON object.
import { type Fault, type FaultChoice, planOf } from './faults.ts'
import type { Json, Stored } from './records.ts'
import type { Call } from './reply.ts'
import type { TokenRules } from './tokens.ts'
import type { LoggedRequest, Vendor } from './vendor.ts'

export interface Commands {
	seed(args: { object: string; count: number; at?: number }): string[]
	put(args: { object: string; data: Json; id?: string; at?: number }): Stored
	change(args: { object: string; id: string; data: Json; at?: number }): Stored
	remove(args: { object: string; id: string; at?: number }): Stored
	list(args: { object: string }): readonly Stored[]
	/** All requests since the start, or since the log was cleared. */
	log(args: { clear?: boolean }): readonly LoggedRequest[]
	/** A list of faults, or the plan of a seed; `path` and `method` say which requests meet them. */
	faults(args: { plan?: (Fault | null)[]; seed?: number; path?: string; method?: string } & FaultChoice): void
	/** Stands still at this time; without one it goes on as the machine's does. */
	clock(args: { now?: number }): void
	allow(args: { token: string; expiresAt?: number; calls?: number }): void
	forbid(args: { token: string }): void
	grant(args: { calls?: number }): { accessToken: string; refreshToken: string }
	expire(args: object): void
	/** How long tokens live, and how refresh tokens are replaced. */
	rules(args: Partial<Omit<TokenRules, 'now'>>): void
	/** Calls beyond this limit get 429. */
	limit(args: { name: string; max: number }): void
	/** Sets fields of the vendor, such as the lag of an index. */
	set(args: Json): void
	webhooks(args: { url: string; since?: number; doubled?: boolean; shuffled?: number }): Promise<number[]>
}

const commandsOf = (vendor: Vendor): Commands => ({
	seed: ({ object, count, at }) => vendor.seed(object, count, { at }),
	put: ({ object, data, ...options }) => vendor.records(object).put(data, options),
	change: ({ object, id, data, at }) => vendor.records(object).change(id, data, at),
	remove: ({ object, id, at }) => vendor.records(object).remove(id, at),
	list: ({ object }) => vendor.records(object).list(),
	log: ({ clear }) => (clear ? vendor.log.splice(0) : vendor.log),
	faults: ({ plan, seed = 0, path = '', method, ...choice }) =>
		vendor.meet(plan ?? planOf(seed, choice), (call) => call.path.includes(path) && (method ?? call.method) === call.method),
	clock: ({ now }) => {
		vendor.clock = now === undefined ? Date.now : () => now
	},
	allow: ({ token, ...until }) => vendor.tokens.allow(token, until),
	forbid: ({ token }) => vendor.tokens.forbid(token),
	grant: (until) => vendor.tokens.grant(until),
	expire: () => vendor.tokens.expire(),
	rules: (rules) => void Object.assign(vendor.tokens, { rules: { ...vendor.tokens.rules, ...rules } }),
	limit: ({ name, max }) => {
		vendor.enforcesLimits = true
		for (const allowance of vendor.allowances) if (allowance.name === name) allowance.max = max
	},
	set: (fields) => void Object.assign(vendor, fields),
	webhooks: ({ url, since = 0, ...options }) => vendor.sendWebhooks(url, { changes: vendor.changes.slice(since), ...options }),
})

export async function control(vendor: Vendor, { path, text }: Call): Promise<unknown> {
	const name = path.replace('/__control/', '')
	const commands = commandsOf(vendor)
	if (!Object.hasOwn(commands, name)) throw new Error(`There is no command ${name}`)
	const command = commands[name as keyof Commands] as (args: unknown) => unknown
	return (await command(text === '' ? {} : JSON.parse(text))) ?? null
}
