import { editDecimal, showAmount } from '../../format/amount.ts'
import { Card } from '../../ui/card.tsx'
import type { usePreview } from './use-preview.ts'

/** The totals as the server computed them; those of before are dimmed while new ones come. */
export function Totals({
	preview: { data, isStale, problem },
	locale,
}: {
	preview: ReturnType<typeof usePreview>
	locale: string
}) {
	const money = (cents: number) => (data ? showAmount(cents, data.currency, locale) : '')
	return (
		<Card title="Total">
			<dl className="totals" data-stale={isStale || undefined} aria-live="polite" aria-busy={isStale}>
				<Row label="Subtotal" value={money(data?.subtotalCents ?? 0)} />
				{data?.taxBreakdown.map(({ label, percent, inclusive, taxCents }) => (
					<Row
						key={`${label} ${percent} ${inclusive}`}
						label={`${label} ${editDecimal(percent, locale)} %${inclusive ? ', included' : ''}`}
						value={money(taxCents)}
					/>
				))}
				<Row label="Total" value={money(data?.totalCents ?? 0)} isMain />
			</dl>
			{data?.warnings?.map(({ pointer, detail }) => (
				<p key={pointer} className="field-note">
					{detail}
				</p>
			))}
			{problem && (
				<p role="alert" className="field-note field-error">
					{problem}
				</p>
			)}
		</Card>
	)
}

const Row = ({ label, value, isMain = false }: { label: string; value: string; isMain?: boolean }) => (
	<div className={isMain ? 'main' : undefined}>
		<dt>{label}</dt>
		<dd>{value}</dd>
	</div>
)
