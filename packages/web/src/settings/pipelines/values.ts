// A pipeline as its form has it. A new stage has no key yet, so a row has an id of its own, and stages name each other by it.
import type { Pipeline, Stage, StageType } from '@remit/sdk'
import { randomId } from '../../api/random-id.ts'

export interface StageRow {
	readonly id: string
	/** Null of a new one. */
	readonly key: string | null
	readonly label: string
	readonly type: StageType
	/** The id of the row to which a payment moves a deal. */
	readonly paidTo: string | null
}

export interface Values {
	name: string
	advanceWhenAllPaid: boolean
	stages: StageRow[]
}

export const stageTypes: readonly {
	readonly id: StageType
	readonly label: string
	readonly tone: 'accent' | 'good' | 'plain'
}[] = [
	{ id: 'open', label: 'Open', tone: 'accent' },
	{ id: 'won', label: 'Won', tone: 'good' },
	{ id: 'lost', label: 'Lost', tone: 'plain' },
]

export const newStage = (label = '', type: StageType = 'open'): StageRow => ({
	id: randomId(),
	key: null,
	label,
	type,
	paidTo: null,
})

export const blankPipeline = (): Values => {
	const [done, paid] = [newStage('Won', 'won'), newStage('Paid', 'won')]
	const stages = [newStage('Lead'), { ...done, paidTo: paid.id }, paid, newStage('Lost', 'lost')]
	return { name: '', advanceWhenAllPaid: false, stages }
}

export const valuesOf = ({ name, advanceWhenAllPaid, stages }: Pipeline): Values => ({
	name,
	advanceWhenAllPaid,
	stages: stages.map(({ key, label, type, advanceOnInvoicePaidTo }) => ({
		id: key,
		key,
		label,
		type,
		paidTo: advanceOnInvoicePaidTo ?? null,
	})),
})

/** The stages of the contract: a new one gets its key from its name. */
export function stagesOf(rows: readonly StageRow[]): Stage[] {
	const used = new Set(rows.flatMap(({ key }) => key ?? []))
	const keys = new Map(rows.map(({ id, key, label }) => [id, key ?? newKey(label, used)] as const))
	return rows.map(({ id, label, type, paidTo }) => {
		const target = paidTo === null ? undefined : keys.get(paidTo)
		return { key: keys.get(id) ?? '', label, type, ...(target !== undefined && { advanceOnInvoicePaidTo: target }) }
	})
}

/** `In progress` is `in_progress`, and `in_progress_2` where that is taken. */
function newKey(label: string, used: Set<string>): string {
	const plain = label
		.normalize('NFKD')
		.toLowerCase()
		.replaceAll(/\p{M}/gu, '')
		.replaceAll('ß', 'ss')
		.replaceAll(/[^a-z0-9]+/g, '_')
		.replaceAll(/^_+|_+$/g, '')
		.slice(0, 40)
	for (let count = 1; ; count++) {
		const key = `${plain || 'stage'}${count > 1 ? `_${count}` : ''}`
		if (used.has(key)) continue
		used.add(key)
		return key
	}
}

/** Payments move deals on and never back: a stage after which its target no longer comes has none. */
export const inOrder = (rows: readonly StageRow[]): StageRow[] =>
	rows.map((row, index) => (rows.slice(index + 1).some(({ id }) => id === row.paidTo) ? row : { ...row, paidTo: null }))

export const checkStages = ({ stages }: Values): [name: string, message: string][] =>
	stages.flatMap(({ label }, index) =>
		label.trim() === '' ? [[`stages.${index}.label`, 'Fill this in'] as [string, string]] : [],
	)
