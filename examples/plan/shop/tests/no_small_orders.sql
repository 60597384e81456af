-- Fails on purpose: one order is below 50. The plan selects the other tests; `select: no_small_orders` shows a failure.
{{ config(tags=['strict']) }}
select * from {{ ref('orders') }} where amount < 50
