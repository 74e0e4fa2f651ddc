import type { WebhookEndpoint } from '@remit/sdk'
import { statusOf, words } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'

/** One that is active may fail all the same. */
export function Health({ endpoint: { status, failingSince } }: { endpoint: Pick<WebhookEndpoint, 'status' | 'failingSince'> }) {
	if (status === 'active') return failingSince ? <Badge tone="bad">Failing</Badge> : <Badge tone="good">Working</Badge>
	const { label, tone } = statusOf(status)
	return <Badge tone={tone}>{label}</Badge>
}

/** `99.8 %`; the server rounds down, so that 100 % is no exaggeration. */
export const showRate = (rate: number | null): string => (rate === null ? '–' : `${Number((rate * 100).toFixed(2))} %`)

/** `All events`, or the first few of them. */
export const showEvents = (patterns: readonly string[]): string =>
	patterns.includes('*') ? 'All events' : patterns.map(showPattern).join(', ')

/** `invoice.*` is `All of invoice`. */
export const showPattern = (pattern: string): string =>
	pattern === '*' ? 'All events' : pattern.endsWith('.*') ? `${words(pattern.slice(0, -2))}: all` : pattern
