// What a key may do, in the words of the page.
import type { ApiKey, KeyScope } from '@remit/sdk'
import { type Status, words } from '../../format/names.ts'

/** The records of the invoicing API, each with `:read` and `:write`, and where it lists them. */
export const kinds = [
	['companies', '/api/companies'],
	['contacts', '/api/contacts'],
	['deals', '/api/deals'],
	['time_entries', '/api/time-entries'],
	['invoices', '/api/invoices'],
	['payments', '/api/payments'],
	['tax_rates', '/api/tax-rates'],
	['organization', '/api/organization'],
] as const

export type Kind = (typeof kinds)[number][0]
export type Level = 'none' | 'read' | 'write'
export type Integration = 'none' | 'read' | 'write' | 'admin'

/** What is chosen in the grid: one level for each kind of record, and one for the integration API. */
export interface Grid {
	readonly levels: Readonly<Record<Kind, Level>>
	readonly integration: Integration
}

const allAt = (level: Level) => Object.fromEntries(kinds.map(([kind]) => [kind, level])) as Record<Kind, Level>

export type PresetName = 'readOnly' | 'invoicing' | 'integration' | 'all'

export const presets: Readonly<Record<PresetName, Grid & { readonly label: string }>> = {
	readOnly: { label: 'Read only', levels: allAt('read'), integration: 'read' },
	invoicing: { label: 'Invoicing', levels: { ...allAt('write'), organization: 'read' }, integration: 'none' },
	integration: { label: 'Integration', levels: allAt('read'), integration: 'write' },
	all: { label: 'Everything', levels: allAt('write'), integration: 'admin' },
}

export const scopesOf = ({ levels, integration }: Grid): KeyScope[] => [
	...(integration === 'none' ? [] : [integration]),
	...kinds.flatMap(([kind]): KeyScope[] => {
		const level = levels[kind]
		return level === 'none' ? [] : [`${kind}:${level}`]
	}),
]

/** The preset with exactly these levels. */
export const presetOf = (grid: Grid): PresetName | undefined =>
	(Object.keys(presets) as PresetName[]).find((name) => String(scopesOf(presets[name])) === String(scopesOf(grid)))

/** A few words for the list; all scopes stand in the title. */
export function showScopes(scopes: readonly string[]): string {
	const known = (Object.keys(presets) as PresetName[]).find((name) => {
		const preset = scopesOf(presets[name])
		return preset.length === scopes.length && preset.every((scope) => scopes.includes(scope))
	})
	if (known) return presets[known].label
	const [first = '', second] = scopes.map((scope) => words(scope.replace(':', ' ')))
	if (second === undefined) return first
	return scopes.length > 2 ? `${first}, ${second} and ${scopes.length - 2} more` : `${first}, ${second}`
}

export type KeyState = Status & { readonly isUsable: boolean }

export function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): KeyState {
	if (revokedAt !== null) return { label: 'Revoked', tone: 'plain', isUsable: false }
	if (expiresAt === null) return { label: 'Active', tone: 'good', isUsable: true }
	if (expiresAt <= now) return { label: 'Expired', tone: 'plain', isUsable: false }
	const isSoon = expiresAt - now < 7 * 86_400_000
	return { label: isSoon ? 'Expires soon' : 'Active', tone: isSoon ? 'warn' : 'good', isUsable: true }
}

/** A request that a key with these scopes may send. */
export function pathFor(scopes: readonly string[]): string {
	const [, path] = kinds.find(([kind]) => scopes.some((scope) => scope.startsWith(`${kind}:`))) ?? []
	return path ?? '/webhooks/endpoints'
}
