import type { Mapping, MappingField, PreviewedRecord } from '@remit/sdk'
import { useState } from 'react'
import { failureOf, usePages } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { fieldName, words } from '../format/names.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { Issues } from './issues.tsx'
import './mappings.css'

const tones: Readonly<Record<string, Tone>> = { create: 'good', update: 'accent', conflict: 'warn', fail: 'bad' }

/** What the fields as they stand here would make of some records; nothing is written. */
export function Preview({ mapping, fields }: { mapping: Mapping; fields: readonly MappingField[] }) {
	const { source, target } = mapping
	const isToRemit = target.system === 'internal'
	const connections = usePages('connections.list', { limit: 100, status: 'active' })
	const fitting = connections.rows?.filter(({ provider }) => provider === (isToRemit ? source : target).system) ?? []
	const [chosen, setChosen] = useState('')
	const connectionId = chosen || (fitting[0]?.id ?? '')
	const write = useWrite('mappings.preview')
	const trouble = failureOf(write)
	const look = () => write.mutate([mapping.id, { ...(connectionId && { connectionId }), limit: 10, fields: [...fields] }])
	return (
		<Card title="Preview">
			<p className="quiet-text">What these fields would make of the first ten records. Nothing is written.</p>
			<div className="preview-bar">
				<NativeSelect
					label="Connection"
					value={connectionId}
					placeholder="None that works"
					choices={fitting.map(({ id, name }) => ({ id, label: name }))}
					onChange={setChosen}
				/>
				<Button isPending={write.isPending} isDisabled={isToRemit && !connectionId} onPress={look}>
					Preview
				</Button>
			</div>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			{write.data && (
				<>
					<Issues validation={write.data.validation} />
					{write.data.records.length === 0 && <p>There are no records.</p>}
					<ul className="previewed">
						{write.data.records.map((record, index) => (
							// biome-ignore lint/suspicious/noArrayIndexKey: a record may have no id yet.
							<Previewed key={index} record={record} />
						))}
					</ul>
				</>
			)}
		</Card>
	)
}

function Previewed({ record }: { record: PreviewedRecord }) {
	const { action, output, changes, errors, externalId, recordId } = record
	const name = output?.name ?? output?.invoiceNumber ?? externalId ?? recordId
	// Of a new record everything is a change, from nothing.
	const rows =
		action === 'create'
			? Object.entries(output ?? {}).map(([field, to]) => ({ field, from: null, to }))
			: Object.entries(changes).map(([field, { from, to }]) => ({ field, from, to }))
	return (
		<li>
			<div className="preview-head">
				{action && <Badge tone={tones[action]}>{words(action)}</Badge>}
				<strong>{typeof name === 'string' ? name : 'Record'}</strong>
			</div>
			{errors.map(({ field, reason }) => (
				<p key={`${field} ${reason}`} className="bad-text">
					{field ? `${fieldName(field)}: ${reason}` : reason}
				</p>
			))}
			{rows.length > 0 && (
				<table className="diff">
					<thead className="hidden">
						<tr>
							<th scope="col">Field</th>
							<th scope="col">Now</th>
							<th scope="col">Then</th>
						</tr>
					</thead>
					<tbody>
						{rows.map(({ field, from, to }) => (
							<tr key={field}>
								<th scope="row">{fieldName(field)}</th>
								<td className="diff-from">{shown(from)}</td>
								<td className="diff-to">{shown(to)}</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</li>
	)
}

const shown = (value: unknown): string =>
	value === null || value === undefined || value === '' ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value)
