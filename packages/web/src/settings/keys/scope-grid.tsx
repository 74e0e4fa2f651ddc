import { words } from '../../format/names.ts'
import { CheckBox } from '../../ui/check-box.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { type Grid, type Integration, kinds, type Level } from './scopes.ts'
import './scope-grid.css'

interface ScopeGridProps {
	readonly grid: Grid
	readonly onChange: (grid: Grid) => void
}

const integrations = [
	{ id: 'none', label: 'Nothing' },
	{ id: 'read', label: 'Read: connections, syncs, webhooks, events' },
	{ id: 'write', label: 'Write: also change endpoints, run syncs' },
	{ id: 'admin', label: 'Admin: everything, also API keys and people' },
]

/** What each kind of record may be: read, or written, which includes reading. */
export function ScopeGrid({ grid, onChange }: ScopeGridProps) {
	const set = (kind: (typeof kinds)[number][0], level: Level) => onChange({ ...grid, levels: { ...grid.levels, [kind]: level } })
	return (
		<div className="scopes">
			<table className="scope-grid">
				<caption className="label">Invoicing</caption>
				<thead>
					<tr>
						<th scope="col">Records</th>
						<th scope="col">Read</th>
						<th scope="col">Write</th>
					</tr>
				</thead>
				<tbody>
					{kinds.map(([kind]) => {
						const level = grid.levels[kind]
						const name = words(kind)
						return (
							<tr key={kind}>
								<th scope="row">{name}</th>
								<td>
									<CheckBox
										aria-label={`Read ${name.toLowerCase()}`}
										isSelected={level !== 'none'}
										isDisabled={level === 'write'}
										onChange={(isOn) => set(kind, isOn ? 'read' : 'none')}
									/>
								</td>
								<td>
									<CheckBox
										aria-label={`Write ${name.toLowerCase()}`}
										isSelected={level === 'write'}
										onChange={(isOn) => set(kind, isOn ? 'write' : 'read')}
									/>
								</td>
							</tr>
						)
					})}
				</tbody>
			</table>
			<NativeSelect
				label="Integration"
				choices={integrations}
				value={grid.integration}
				onChange={(id) => onChange({ ...grid, integration: id as Integration })}
				hint="With read, a key also gets events about records of every kind."
			/>
		</div>
	)
}
