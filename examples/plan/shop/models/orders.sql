-- Three orders, so that the example needs no source.
select * from (values (1, 'ada', 120), (2, 'bob', 80), (3, 'ada', 40)) as t (order_id, customer, amount)
