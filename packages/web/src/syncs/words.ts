import type { Sync, SyncRun, SyncRunError, SyncSchedule } from '@remit/sdk'

export const directions: Readonly<Record<string, string>> = {
	inbound: 'From the provider to Remit',
	outbound: 'From Remit to the provider',
	bidirectional: 'Both ways',
}

export const conflictPolicies: Readonly<Record<string, string>> = {
	source_wins: 'The side the records come from wins',
	target_wins: 'The side the records go to wins',
	newest_wins: 'The side that changed last wins',
	manual: 'Somebody decides',
}

export const deletePolicies: Readonly<Record<string, string>> = {
	ignore: 'The other side stays',
	delete: 'The other side is deleted too',
}

export const errorPolicies: Readonly<Record<string, string>> = {
	continue: 'The run goes on',
	stop: 'The run ends',
}

export const choicesOf = (labels: Readonly<Record<string, string>>) =>
	Object.entries(labels).map(([id, label]) => ({ id, label }))

export function showSchedule({ type, minutes, expression, timeZone }: SyncSchedule): string {
	if (type === 'manual') return 'By hand'
	if (type === 'cron') return [expression, timeZone].filter(Boolean).join(', ')
	const each = minutes ?? 0
	if (each % 1440 === 0) return each === 1440 ? 'Every day' : `Every ${each / 1440} days`
	if (each % 60 === 0) return each === 60 ? 'Every hour' : `Every ${each / 60} hours`
	return each === 1 ? 'Every minute' : `Every ${each} minutes`
}

export const isMoving = (run: Pick<SyncRun, 'status'> | null | undefined): boolean =>
	run?.status === 'queued' || run?.status === 'running' || run?.status === 'waiting'

/** What the list says of a sync: its own state, or else how its last run ended. */
export const stateOf = ({ status, lastRun }: Pick<Sync, 'status' | 'lastRun'>): string =>
	status === 'idle' ? (lastRun?.status ?? 'new') : status

const advice: Readonly<Record<string, string>> = {
	connection_needs_reauth: 'Give the connection new credentials.',
	connection_not_active: 'Test the connection, or turn it on again.',
	mapping_not_active: 'Set the mapping to active.',
	schema_changed: 'Look at the mapping: the provider’s fields have changed.',
	account_changed: 'Connect the other account as a connection of its own.',
	paused: 'Resume the sync to go on.',
}

/** Why a run waits or has failed, and what to do. */
export const showRunError = ({ code, detail }: SyncRunError): string => [detail, advice[code]].filter(Boolean).join(' ')
